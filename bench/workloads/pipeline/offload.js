const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const express = require('express');
const { Piscina } = require('piscina');

const app = express();
const pool = new Piscina({ filename: path.join(__dirname, 'summarise.js') });
const statistics = { reports: 0, orders: 0 };

app.get('/reports/:name', (req, res, next) => {
  const file = path.join(__dirname, 'orders', `${path.basename(req.params.name)}.csv`);
  fs.readFile(file, 'utf8', (error, text) => {
    if (error) return next(error);
    pool.run(text).then((summary) => {
      zlib.deflate(JSON.stringify(summary), (failure, packed) => {
        if (failure) return next(failure);
        statistics.reports += 1;
        statistics.orders += summary.orders;
        res.json({ count: statistics.reports, orders: statistics.orders, report: packed.toString('base64') });
      });
    }, next);
  });
});

app.listen(process.env.PORT);
