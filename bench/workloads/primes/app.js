const express = require('express');
const countPrimes = require('./primes');

const app = express();

app.get('/primes/:limit', (req, res) => {
  const limit = Number(req.params.limit);
  res.json({ limit, primes: countPrimes(limit) });
});

app.listen(process.env.PORT);
