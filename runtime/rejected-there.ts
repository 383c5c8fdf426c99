/**
 * Promises at home for those that were rejected on replicas where nobody caught them. When somebody catches one there after all, its
 * own is caught here, so Node tells the app's listeners. They are kept for as long as a replica has its own.
 */
import type { ToHome } from './messages.js';

export class RejectedThere {
  readonly #promises = new Map<object, Map<number, Promise<never>>>();

  add(replica: object, id: number, promise: Promise<never> | null): void {
    if (promise === null) return;
    const its = this.#promises.get(replica) ?? new Map<number, Promise<never>>();
    this.#promises.set(replica, its);
    its.set(id, promise);
  }

  settle(replica: object, { kind, promise: id }: Extract<ToHome, { readonly kind: 'caught-late' | 'dropped' }>): void {
    const its = this.#promises.get(replica);
    if (kind === 'caught-late') its?.get(id)?.catch(() => {});
    its?.delete(id);
  }

  gone(replica: object): void {
    this.#promises.delete(replica);
  }
}
