/** Reads: what came of a verification. Gives: it in words. */
import { completeHeaders } from './request-bytes.js';
import type { RequestToSend } from './requests-file.js';
import type { Verdict } from './verify.js';

export function printVerdict(verdict: Verdict, file: string, placement: string): string {
  if (verdict.kind === 'same') {
    const { requests, open, said } = verdict;
    const stayed = open === 0 ? '' : `, ${open} of them open to the end`;
    const lines = [
      `no difference: ${requests} ${requests === 1 ? 'request' : 'requests'}${stayed}, output and exit (--placement ${placement})`,
    ];
    if (/main (?:thread|one)/.test(said) && placement === 'eager') lines.push(`note: ${homeNote(said)}`);
    return `${lines.join('\n')}\n`;
  }
  const { request, number, difference } = verdict;
  const { what, original, compiled } = difference;
  const where =
    request === null ? 'in the end' : `${request.method} ${request.url} (request ${number}, ${file}:${request.line})`;
  const said = warnings(verdict.said);
  return [
    `different: ${what}: ${where}`,
    ...section('node', original),
    ...section('fluxion', compiled),
    ...(request === null ? [] : section('request', requestText(request))),
    ...(said === '' ? [] : section('what Fluxion said', said)),
    '',
  ].join('\n');
}

function section(title: string, text: string): readonly string[] {
  return ['', `${title}:`, ...(text === '' ? ['(nothing)'] : text.split('\n')).map((line) => `  ${line}`)];
}

function requestText(request: RequestToSend): string {
  const headers = completeHeaders(request);
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  const body = typeof request.body === 'string' ? request.body : `(base64) ${request.body.base64}`;
  if (body !== '') lines.push('', body.length > 1000 ? `${body.slice(0, 1000)}…` : body);
  return lines.join('\n');
}

/** Nothing was proven where nothing moved. */
function homeNote(said: string): string {
  const line = said.split('\n').find((each) => /main (?:thread|one)/.test(each)) ?? '';
  return line.replace(/^fluxion \w+: /, '');
}

function warnings(said: string): string {
  return said
    .split('\n')
    .filter((line) => /^fluxion (error|warn): /.test(line))
    .join('\n');
}
