/** What a shop's list of orders comes to: for each order its rank by price, and the sum for each customer. */
module.exports = function summarise(text) {
  const orders = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [id, customer, item, price] = line.split(',');
      return { id: Number(id), customer, item, price: Number(price) };
    });
  const sums = {};
  const dearest = [];
  for (const order of orders) {
    sums[order.customer] = (sums[order.customer] ?? 0) + order.price;
    let rank = 1;
    for (const other of orders) if (other.price > order.price) rank++;
    if (rank <= 10) dearest.push({ rank, id: order.id, item: order.item });
  }
  return { orders: orders.length, sums, dearest: dearest.sort((a, b) => a.rank - b.rank || a.id - b.id) };
};
