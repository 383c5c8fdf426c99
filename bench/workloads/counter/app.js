const express = require('express');
const seal = require('./seal');

const app = express();
let count = 0;

app.post('/tickets/:name', (req, res) => {
  const sealed = seal(req.params.name);
  count += 1;
  res.json({ sealed, count });
});

app.get('/tickets', (req, res) => {
  res.json({ count });
});

app.listen(process.env.PORT);
