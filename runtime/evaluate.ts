/** In a replica: reads what the compiler wrote, and evaluates the app as home did. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Module from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LinkManifest, StartFile, StartManifest } from '../flx/run-manifest.js';
import home from './home.cjs';
import process from './node-process.cjs';
import type { Emitted } from './types.js';

export function readStart(folder: string): StartFile {
  return JSON.parse(readFileSync(path.join(folder, 'start.json'), 'utf8'));
}

/** Without the texts, of which nobody has any more use once they have been evaluated. */
export function readManifest(folder: string): StartManifest {
  const start = readStart(folder);
  return { ...start, modules: start.modules.map(({ text, ...module }) => module) };
}

export function readLink(folder: string): LinkManifest {
  return JSON.parse(readFileSync(path.join(folder, 'link.json'), 'utf8'));
}

export function readEmitted(folder: string, manifest: StartFile): ReadonlyMap<string, Emitted> {
  const emitted = new Map<string, Emitted>();
  for (const { source, file, text, kind, isOnDisk } of manifest.modules) {
    if (file === null || text === null) continue;
    emitted.set(source, {
      original: source,
      kind,
      isOnDisk,
      text: home.mapFrom(text, path.join(folder, file), source),
    });
  }
  return emitted;
}

/** A replica that starts later must not run other code than home. Throws where a file is not what home's was. */
export function checkSources(manifest: StartManifest): void {
  for (const { id, source, hash, file, isOnDisk } of manifest.modules) {
    if (file !== null || !isOnDisk) continue;
    const text = readFileSync(source, 'utf8').replace(/^\ufeff/, '');
    if (createHash('sha256').update(text).digest('hex') !== hash)
      throw new Error(`${id} was changed since the app was started`);
  }
}

/** Settles when the start-up code is through; never, where it waits for something that the firewall keeps from it. */
export async function evaluate(entry: StartManifest['modules'][number]): Promise<void> {
  if (entry.kind === 'module') {
    await import(pathToFileURL(entry.source).href);
    return;
  }
  const load: unknown = Reflect.get(Module, '_load');
  if (typeof load !== 'function') throw new Error('this version of Node has another module loader');
  Reflect.deleteProperty(process, 'mainModule');
  Reflect.apply(load, Module, [entry.source, null, true]);
}
