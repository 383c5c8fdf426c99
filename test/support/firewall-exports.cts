/** Prints, as JSON, the functions that Node's modules export: what the firewall's table has to know. */
import patching = require('../../runtime/firewall/patches.cjs');
import table = require('../../runtime/firewall/table.cjs');

process.emitWarning = () => {};
const unlisted: string[] = [];
const missing: string[] = [];
/** Of these the table has only what Node adds to the language, or what has a state. */
const PARTLY: ReadonlySet<string> = new Set(
  'globalThis Math Date performance Crypto WebAssembly report Sign ECDH DiffieHellman'.split(' '),
);
const { TABLE, kindsOf } = table;
for (const module of Object.keys(TABLE)) {
  for (const holder of patching.holdersOf(module)) {
    if (PARTLY.has(module)) continue;
    const kinds = kindsOf(module);
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(holder))) {
      const value: unknown = descriptor.get === undefined ? descriptor.value : Reflect.get(holder, name);
      if (typeof value === 'function' && name !== 'constructor' && !kinds.has(name)) unlisted.push(`${module}.${name}`);
    }
    for (const [name, kind] of kinds) {
      if (kind === 'pure' || !Reflect.has(holder, name.replace(/\..*/, ''))) continue;
      const place = patching.placeOf(holder, name);
      const isFixed =
        place !== null && Object.getOwnPropertyDescriptor(place.holder, place.key)?.configurable === false;
      if (place === null || isFixed) missing.push(`${module}.${name}`);
    }
  }
}
console.log(JSON.stringify({ modules: process.version, unlisted, missing }));
