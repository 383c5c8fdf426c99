const path = require('path');
const express = require('express');
const { Piscina } = require('piscina');

const app = express();
const pool = new Piscina({ filename: path.join(__dirname, '../primes/primes.js') });

app.get('/users/:id', (req, res) => {
  const id = Number(req.params.id);
  res.json({ id, name: `user ${id}`, roles: ['reader', 'writer'], active: id % 2 === 0 });
});

app.get('/primes/:limit', (req, res, next) => {
  const limit = Number(req.params.limit);
  pool.run(limit).then((primes) => res.json({ limit, primes }), next);
});

app.listen(process.env.PORT);
