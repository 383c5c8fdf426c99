/**
 * Reads: the settings of the apps that were linked.
 * Gives: whether they still are what they were. Handlers that run elsewhere go by those that the other loop has; where the
 *        analysis sees that something changes them they stay home, and this notices what it cannot see.
 *
 * View engines are not looked at, which Express itself fills in when it renders; locals are what some handlers depend on (`guards.ts`).
 * Asked each time that something is to leave home.
 */
import { isAsKept, type Kept, keep } from './kept.js';

export class SettingsWatch {
  #known: readonly { readonly app: object; readonly settings: Kept }[] = [];

  /** From now on these are what is looked at, as they are now. */
  take(things: Iterable<object>): void {
    this.#known = [...things].flatMap((app) => {
      const holder = ownObject(app, 'settings');
      return holder === null ? [] : [{ app, settings: keep('settings', holder) }];
    });
  }

  get hasChanged(): boolean {
    return !this.#known.every(
      ({ app, settings }) => Reflect.get(app, 'settings') === settings.holder && isAsKept(settings),
    );
  }
}

/** Routers and routes have none. */
export function ownObject(app: object, name: string): object | null {
  const holder: unknown = Reflect.get(app, name);
  return typeof holder === 'object' && holder !== null ? holder : null;
}
