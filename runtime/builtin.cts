/**
 * Gives: Node's own modules by name, as they are in this process. Node 21, and 22 before 22.3, have only `require` for that.
 */
import process = require('node:process');

/** What comes is typed where it is asked for. */
type GetBuiltin = <Module>(id: `node:${string}`) => Module;

const getBuiltin = (process.getBuiltinModule?.bind(process) ?? require) as GetBuiltin;

export = { getBuiltin };
