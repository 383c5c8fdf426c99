/** Prints, as JSON, the functions that Node's modules export: what the firewall's table has to know. */
import patching = require('../../runtime/firewall/patches.cjs');
import table = require('../../runtime/firewall/table.cjs');

process.emitWarning = () => {};
const unlisted: string[] = [];
const missing: string[] = [];
/** Functions of the language, and of the web as far as they touch nothing: `globalThis` is listed by its special ones. */
const { TABLE, kindsOf } = table;
for (const module of Object.keys(TABLE)) {
  for (const holder of patching.holdersOf(module)) {
    if (['globalThis', 'Math', 'Date', 'performance', 'Crypto', 'SubtleCrypto'].includes(module)) continue;
    const kinds = kindsOf(module);
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(holder))) {
      const value: unknown = descriptor.get === undefined ? descriptor.value : Reflect.get(holder, name);
      if (typeof value === 'function' && !kinds.has(name)) unlisted.push(`${module}.${name}`);
    }
    for (const [name, kind] of kinds) {
      if (kind !== 'pure' && kind !== 'special' && patching.placeOf(holder, name) === null)
        missing.push(`${module}.${name}`);
    }
  }
}
console.log(JSON.stringify({ modules: process.version, unlisted, missing }));
