/**
 * What code can do to what it reaches.
 */
export const Effect = {
  /** a variable or a field of `this` is read */
  read: 0,
  /** it is bound to another value */
  write: 1,
  /** something within its value is changed */
  mutate: 2,
  /** its value is handed to code that may do anything to it */
  hand: 3,
  /** a call that nobody knows */
  unknown: 4,
  /** a call of something with hidden state that all callers share */
  stateful: 5,
  /** acts on the process as a whole */
  process: 6,
  /** eval, with */
  opaque: 7,
  /** a module is loaded that may not have been there before */
  load: 8,
} as const;

export const kinds = 9;
