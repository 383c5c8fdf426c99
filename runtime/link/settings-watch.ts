/**
 * Reads: the settings of the apps that were linked.
 * Gives: whether they still are what they were. Handlers that run elsewhere go by those that the other loop has; where the
 *        analysis sees that something changes them they stay home, and this notices what it cannot see.
 *
 * Locals are not looked at: code that the analysis sees may change these, and only those who read them stay home then. Nor are
 * view engines, which Express itself fills in when it renders.
 * Asked each time that something is to leave home, so it looks at names and values and makes nothing.
 */

interface Known {
  readonly app: object;
  readonly holder: object;
  readonly names: readonly string[];
  readonly values: readonly unknown[];
}

export class SettingsWatch {
  #known: readonly Known[] = [];

  /** From now on these are what is looked at, as they are now. */
  take(things: Iterable<object>): void {
    this.#known = [...things].flatMap((app) => know(app));
  }

  get hasChanged(): boolean {
    return !this.#known.every(isSame);
  }
}

function know(app: object): readonly Known[] {
  const holder: unknown = Reflect.get(app, 'settings');
  // Routers and routes have none.
  if (typeof holder !== 'object' || holder === null) return [];
  const names: string[] = [];
  // With what a mounted app inherits from the one around it.
  for (const key in holder) names.push(key);
  return [{ app, holder, names, values: names.map((key): unknown => Reflect.get(holder, key)) }];
}

function isSame({ app, holder, names, values }: Known): boolean {
  if (Reflect.get(app, 'settings') !== holder) return false;
  let at = 0;
  for (const key in holder) {
    if (names[at] !== key || !Object.is(Reflect.get(holder, key), values[at])) return false;
    at++;
  }
  return at === names.length;
}
