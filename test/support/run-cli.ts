import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The built command, wherever the build that this file belongs to was put. */
export const cliPath = fileURLToPath(new URL('../../bin/fluxion.cjs', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Stop reading after so many characters of output, as `| head` does. */
  readonly readOnly?: number;
  /** Let the output go to this file instead of the test. */
  readonly stdoutTo?: string;
}

export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { NO_COLOR: _noColor, FORCE_COLOR: _forceColor, ...env } = process.env;
  const stdoutTo = options.stdoutTo === undefined ? null : openSync(options.stdoutTo, 'w');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cliPath, ...args], {
      cwd: options.cwd,
      env: { ...env, ...options.env },
      stdio: ['ignore', stdoutTo ?? 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    if (stdoutTo !== null) closeSync(stdoutTo);
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      if (options.readOnly !== undefined && stdout.length >= options.readOnly) child.stdout?.destroy();
    });
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
