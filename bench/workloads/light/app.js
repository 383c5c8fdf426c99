const express = require('express');

const app = express();

app.get('/users/:id', (req, res) => {
  const id = Number(req.params.id);
  res.json({ id, name: `user ${id}`, roles: ['reader', 'writer'], active: id % 2 === 0 });
});

app.listen(process.env.PORT);
