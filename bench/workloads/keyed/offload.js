const path = require('path');
const express = require('express');
const { Piscina } = require('piscina');

const app = express();
const pool = new Piscina({ filename: path.join(__dirname, 'seal.js') });
const carts = {};

app.post('/carts/:id/:item', (req, res, next) => {
  const { id, item } = req.params;
  pool.run(item).then((sealed) => {
    const cart = (carts[id] ??= { items: 0, last: null });
    cart.items += 1;
    cart.last = item;
    res.json({ sealed, count: cart.items });
  }, next);
});

app.listen(process.env.PORT);
