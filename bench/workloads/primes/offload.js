const path = require('path');
const express = require('express');
const { Piscina } = require('piscina');

const app = express();
const pool = new Piscina({ filename: path.join(__dirname, 'primes.js') });

app.get('/primes/:limit', (req, res, next) => {
  const limit = Number(req.params.limit);
  pool.run(limit).then((primes) => res.json({ limit, primes }), next);
});

app.listen(process.env.PORT);
