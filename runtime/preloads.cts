/**
 * Gives: what Node was told to load before the app, beside Fluxion itself. It may change anything that the app sees, and
 * a replica's thread cannot load it before the firewall is up.
 */
import path = require('node:path');
import process = require('node:process');

const TAKES_MODULE = /^(-r|--require|--import|--loader|--experimental-loader)(?:=(.*))?$/s;

function foreignPreload(): string | null {
  const words = [...process.execArgv, ...optionWords(process.env.NODE_OPTIONS ?? '')];
  for (let at = 0; at < words.length; at++) {
    const found = TAKES_MODULE.exec(words[at] ?? '');
    if (found === null) continue;
    const name = found[2] ?? words[++at] ?? '';
    if (!isOurs(name)) return name;
  }
  return null;
}

/** As Node splits them: spaces are kept within double quotes. */
function optionWords(options: string): readonly string[] {
  const words = options.match(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/g) ?? [];
  return words.map((word) =>
    word.replace(/"((?:\\.|[^"\\])*)"/g, (_all, inner: string) => inner.replace(/\\(.)/g, '$1')),
  );
}

function isOurs(name: string): boolean {
  const file = name.replace(/^file:\/\//, '');
  return /^fluxion\/register$/.test(name) || path.resolve(file).startsWith(__dirname + path.sep);
}

export = { foreignPreload };
