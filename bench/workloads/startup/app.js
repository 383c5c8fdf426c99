const express = require('express');
const makeRouter = require('./routes/make');

const app = express();
app.use(express.json());
for (let number = 0; number < 30; number++) app.use(`/feature${number}`, makeRouter(`feature ${number}`));
app.get('/', (req, res) => {
  res.json({ hello: 'world' });
});

app.listen(process.env.PORT);
