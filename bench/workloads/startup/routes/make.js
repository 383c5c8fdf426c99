const fs = require('fs');
const express = require('express');

/** A router as each of the thirty features of an app has one. */
module.exports = function makeRouter(feature) {
  const router = express.Router();
  const seen = { count: 0 };
  router.get('/', (req, res) => {
    seen.count += 1;
    res.json({ feature, count: seen.count });
  });
  router.get('/size', (req, res, next) => {
    fs.stat(__filename, (error, found) => (error ? next(error) : res.json({ feature, size: found.size })));
  });
  router.get('/sum', (req, res) => {
    let sum = 0;
    for (let value = 0; value < 1e6; value++) sum += value % 7;
    res.json({ feature, sum });
  });
  return router;
};
