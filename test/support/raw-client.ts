/** Sends bytes to a server and gives back the bytes that it answers, so that nothing of an answer is smoothed over. */
import { connect } from 'node:net';

/** Until the server closes: so requests should ask for that. */
export function exchangeBytes(port: number, request: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

export function get(path: string, headers: readonly string[] = [], method = 'GET'): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n');
}

export function post(
  path: string,
  body: string,
  headers: readonly string[] = ['Content-Type: application/json'],
): string {
  return get(path, [...headers, `Content-Length: ${Buffer.byteLength(body)}`], 'POST') + body;
}

/** What legitimately differs: V8 names a timer's callback after where it is when the trace is first looked at. */
export function masked(answer: string): string {
  const dateless = answer.replace(/^Date: .*$/gm, 'Date: -');
  if (!dateless.includes('at Immediate.')) return dateless;
  return dateless.replace('Immediate._onImmediate', 'Immediate.&lt;anonymous&gt;').replace(/^Content-Length: .*$/m, '');
}
