/** Prints, as JSON, the functions that Node's modules export: what the firewall's table has to know. */
import patching = require('../../runtime/firewall/patches.cjs');
import table = require('../../runtime/firewall/table.cjs');

process.emitWarning = () => {};
const unlisted: string[] = [];
const missing: string[] = [];
const { TABLE, kindsOf } = table;
for (const module of Object.keys(TABLE)) {
  for (const holder of patching.holdersOf(module)) {
    // Of these, the table has only what is not a matter of the language.
    if (['globalThis', 'Math', 'Date', 'performance', 'Crypto', 'WebAssembly', 'report'].includes(module)) continue;
    const kinds = kindsOf(module);
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(holder))) {
      const value: unknown = descriptor.get === undefined ? descriptor.value : Reflect.get(holder, name);
      if (typeof value === 'function' && name !== 'constructor' && !kinds.has(name)) unlisted.push(`${module}.${name}`);
    }
    for (const [name, kind] of kinds) {
      if (kind !== 'pure' && kind !== 'special' && patching.placeOf(holder, name) === null)
        missing.push(`${module}.${name}`);
    }
  }
}
console.log(JSON.stringify({ modules: process.version, unlisted, missing }));
