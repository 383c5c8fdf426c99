/**
 * A session's cookie is another one in each run. Where a recorded client sends back what it was given, each side is sent
 * what that side has given.
 */
export class Cookies {
  /** By name and recorded value: `sid=abc`. */
  readonly #mine = new Map<string, string>();
  /** Of requests that were not recorded nothing is known but the names. */
  readonly #byName = new Map<string, string>();

  learn(recorded: readonly string[], headers: readonly string[]): void {
    const given = cookiesIn(headers);
    for (const cookie of recorded) {
      const [name, value] = splitCookie(cookie);
      const mine = given.get(name);
      if (mine !== undefined) this.#mine.set(`${name}=${value}`, mine);
    }
    if (recorded.length === 0) for (const [name, value] of given) this.#byName.set(name, value);
  }

  mine(headers: readonly string[]): readonly string[] {
    return headers.map((text, at) =>
      at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'cookie' ? this.#all(text) : text,
    );
  }

  #all(header: string): string {
    return header
      .split(/;\s*/)
      .map((cookie) => {
        const [name, value] = splitCookie(cookie);
        const mine = this.#mine.get(`${name}=${value}`) ?? this.#byName.get(name);
        return mine === undefined ? cookie : `${name}=${mine}`;
      })
      .join('; ');
  }
}

function cookiesIn(headers: readonly string[]): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() === 'set-cookie') cookies.set(...splitCookie(headers[at + 1] ?? ''));
  }
  return cookies;
}

function splitCookie(cookie: string): [name: string, value: string] {
  const pair = cookie.split(';', 1)[0] ?? '';
  const equals = pair.indexOf('=');
  return equals === -1 ? [pair, ''] : [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
}
