/** By division, as the first version of such a function does it. */
module.exports = function countPrimes(limit) {
  let count = 0;
  for (let candidate = 2; candidate < limit; candidate++) {
    let divisor = 2;
    while (divisor * divisor <= candidate && candidate % divisor !== 0) divisor++;
    if (divisor * divisor > candidate) count++;
  }
  return count;
};
