const path = require('path');
const express = require('express');
const { Piscina } = require('piscina');

const app = express();
const pool = new Piscina({ filename: path.join(__dirname, 'seal.js') });
let count = 0;

app.post('/tickets/:name', (req, res, next) => {
  pool.run(req.params.name).then((sealed) => {
    count += 1;
    res.json({ sealed, count });
  }, next);
});

app.get('/tickets', (req, res) => {
  res.json({ count });
});

app.listen(process.env.PORT);
