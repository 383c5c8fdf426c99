const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const express = require('express');
const summarise = require('./summarise');

const app = express();
const statistics = { reports: 0, orders: 0 };

app.get('/reports/:name', (req, res, next) => {
  const file = path.join(__dirname, 'orders', `${path.basename(req.params.name)}.csv`);
  fs.readFile(file, 'utf8', function transform(error, text) {
    if (error) return next(error);
    const summary = summarise(text);
    zlib.deflate(JSON.stringify(summary), function reply(failure, packed) {
      if (failure) return next(failure);
      statistics.reports += 1;
      statistics.orders += summary.orders;
      res.json({ count: statistics.reports, orders: statistics.orders, report: packed.toString('base64') });
    });
  });
});

app.listen(process.env.PORT);
