/**
 * Gives: which exchange an object belongs to. The mark is a private field set on objects of others: no code can see it, and
 * looking it up costs as little as a property.
 */

/** A constructor that gives back what it is given, so that a class can add its fields to that. */
const Given: new (thing: object) => object = function given(thing: object): object {
  return thing;
} as unknown as new (
  thing: object,
) => object;

export class Mark<T> {
  readonly #set: (thing: object, value: T) => void;
  readonly get: (thing: object) => T | undefined;

  constructor() {
    class Marked extends Given {
      #value: T;
      constructor(thing: object, value: T) {
        super(thing);
        this.#value = value;
      }
      static valueOf_(thing: object): T | undefined {
        return #value in thing ? thing.#value : undefined;
      }
      static replace(thing: object, value: T): void {
        if (#value in thing) thing.#value = value;
        else new Marked(thing, value);
      }
    }
    this.#set = Marked.replace;
    this.get = Marked.valueOf_;
  }

  set(thing: object, value: T): void {
    this.#set(thing, value);
  }
}
