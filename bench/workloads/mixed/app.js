const express = require('express');
const countPrimes = require('../primes/primes');

const app = express();

app.get('/users/:id', (req, res) => {
  const id = Number(req.params.id);
  res.json({ id, name: `user ${id}`, roles: ['reader', 'writer'], active: id % 2 === 0 });
});

app.get('/primes/:limit', (req, res) => {
  const limit = Number(req.params.limit);
  res.json({ limit, primes: countPrimes(limit) });
});

app.listen(process.env.PORT);
