/**
 * Reads: a module's text.
 * Gives: names for what is added to it, none of which occurs in the text or was given before.
 */
export class FreshNames {
  readonly #text: string;
  readonly #given = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  give(wanted: string): string {
    let name = wanted.replace(/[^\w$]/g, '_');
    // Even inside of a longer word or of a text it counts as taken: searching is enough then, and nobody is misled.
    while (this.#text.includes(name) || this.#given.has(name)) name = `$${name}`;
    this.#given.add(name);
    return name;
  }
}
