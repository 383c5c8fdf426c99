const express = require('express');

const app = express();

app.post('/orders', express.json({ limit: '2mb' }), (req, res) => {
  let total = 0;
  for (const { price, count } of req.body.items) total += price * count;
  res.json({ items: req.body.items.length, total });
});

app.listen(process.env.PORT);
