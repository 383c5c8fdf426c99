const path = require('path');
const express = require('express');
const { Piscina } = require('piscina');

const app = express();
const pool = new Piscina({ filename: path.join(__dirname, 'page.js') });

app.get('/lists/:list', (req, res, next) => {
  pool.run(Number(req.params.list)).then((html) => res.send(html), next);
});

app.listen(process.env.PORT);
