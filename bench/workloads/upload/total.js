module.exports = function totalOf(bytes) {
  const { items } = JSON.parse(Buffer.from(bytes).toString());
  let total = 0;
  for (const { price, count } of items) total += price * count;
  return { items: items.length, total };
};
