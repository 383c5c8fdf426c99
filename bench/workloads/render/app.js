const path = require('path');
const express = require('express');
const rowsOf = require('./rows');

const app = express();
app.set('view engine', 'ejs');
app.set('views', path.join(__dirname, 'views'));

app.get('/lists/:list', (req, res) => {
  const list = Number(req.params.list);
  res.render('list', { list, rows: rowsOf(list) });
});

app.listen(process.env.PORT);
