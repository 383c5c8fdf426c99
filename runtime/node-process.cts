/**
 * Gives: `node:process`. An `import` of it would make Node read each of its properties, `stdin` as well, which takes hold of standard input: it does
 * not block any more then, for whoever reads it without waiting and for child processes that inherit it, and is among what is active.
 */
import process = require('node:process');

export = process;
