/**
 * Reads: objects of the running app.
 * Gives: what their properties were when they were looked at first, and whether they still are that.
 *
 * Names and values are compared, and nothing is made: this is asked while requests wait. Accessors are not asked, as they run code.
 */

/** What an object was. */
export interface Kept {
  /** As the app knows it: a variable, `app.locals`. */
  readonly name: string;
  readonly holder: object;
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  /** These properties alone; else there are no others. */
  readonly isPart: boolean;
}

/** With what it inherits, as settings of a mounted app do from the one around it. */
export function keep(name: string, holder: object): Kept {
  const names: string[] = [];
  for (const key in holder) if (isData(holder, key)) names.push(key);
  return { ...keepPart(name, holder, names), isPart: false };
}

export function keepPart(name: string, holder: object, names: readonly string[]): Kept {
  return { name, holder, names, values: names.map((key): unknown => Reflect.get(holder, key)), isPart: true };
}

/** Nothing has come, gone, or become another value. */
export function isAsKept({ holder, names, values, isPart }: Kept): boolean {
  if (isPart) return names.every((key, at) => Object.is(Reflect.get(holder, key), values[at]));
  let at = 0;
  for (const key in holder) {
    if (names[at] === key) {
      if (!Object.is(Reflect.get(holder, key), values[at])) return false;
      at++;
    } else if (isData(holder, key)) return false;
  }
  return at === names.length;
}

function isData(holder: object, key: string): boolean {
  for (let at: object | null = holder; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, key);
    if (found !== undefined) return 'value' in found;
  }
  return false;
}
