const express = require('express');
const seal = require('./seal');

const app = express();
const carts = {};

app.post('/carts/:id/:item', (req, res) => {
  const { id, item } = req.params;
  const sealed = seal(item);
  const cart = (carts[id] ??= { items: 0, last: null });
  cart.items += 1;
  cart.last = item;
  res.json({ sealed, count: cart.items });
});

app.listen(process.env.PORT);
