const path = require('path');
const express = require('express');
const { Piscina } = require('piscina');

const app = express();
const pool = new Piscina({ filename: path.join(__dirname, 'total.js') });

app.post('/orders', express.raw({ limit: '2mb', type: 'application/json' }), (req, res, next) => {
  pool.run(req.body).then((total) => res.json(total), next);
});

app.listen(process.env.PORT);
