/**
 * Reads: the texts of the app's own modules.
 * Gives: where one may set the address or the method of a request anew, and where one takes hold of a request's connection. Texts
 *        are asked, not meanings: what looks like it counts.
 */
import type { ModuleSource } from '../program.js';
import type { Touches } from '../run-manifest.js';

/** `req.url = …`, `req['method'] ||= …`, `Object.assign(req, …)` */
const ROUTING = new RegExp(
  [
    String.raw`(?:\.\s*|\[\s*['"\`])(?:url|method|_parsedUrl)(?:['"\`]\s*\])?\s*(?:[-+*/%&|^?]{1,2}|\*\*|<<|>>>?)?=(?![=>])`,
    String.raw`\b(?:assign|definePropert(?:y|ies)|set|setPrototypeOf)\s*\(\s*(?:this\s*\.\s*)?req(?:uest)?\s*,`,
  ].join('|'),
);

/** What is a text or a number, whoever has it. */
const READ_ONLY = 'remoteAddress|remotePort|remoteFamily|localAddress|localPort|localFamily|encrypted|authorized';

/** `req.socket.on(…)`, `const { connection } = req` */
const CONNECTIONS = new RegExp(
  [
    String.raw`\.\s*(?:socket|connection)\b(?!\s*\??\.\s*(?:${READ_ONLY})\b)`,
    String.raw`[{,]\s*(?:socket|connection)\b[^{}()]*\}\s*=\s*(?:this\s*\.\s*)?(?:req(?:uest)?|res(?:ponse)?)\b`,
  ].join('|'),
);

export function listTouches(sources: readonly ModuleSource[]): Touches {
  return { routing: firstPlace(sources, ROUTING), connections: firstPlace(sources, CONNECTIONS) };
}

function firstPlace(sources: readonly ModuleSource[], pattern: RegExp): string | null {
  for (const { id, text } of sources) {
    const found = pattern.exec(text);
    if (found !== null) return `${id}:${text.slice(0, found.index).split('\n').length}`;
  }
  return null;
}
