/** A number that takes about 2 ms to compute: what a ticket is sealed with. */
module.exports = function seal(name) {
  let sum = 2166136261;
  for (let round = 0; round < 1_600_000; round++) {
    sum = Math.imul(sum ^ name.charCodeAt(round % name.length), 16777619);
  }
  return sum >>> 0;
};
