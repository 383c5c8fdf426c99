const express = require('express');

const app = express();
const notes = new Map();
let lastId = 0;

app.use(express.json());

app.post('/notes', (req, res) => {
  lastId += 1;
  const note = { id: lastId, text: req.body.text };
  notes.set(note.id, note);
  res.status(201).json(note);
});

app.get('/notes/:id', (req, res) => {
  const note = notes.get(Number(req.params.id));
  if (note === undefined) return res.status(404).json({ error: 'no such note' });
  res.json(note);
});

app.put('/notes/:id', (req, res) => {
  const note = notes.get(Number(req.params.id));
  if (note === undefined) return res.status(404).json({ error: 'no such note' });
  note.text = req.body.text;
  res.json(note);
});

app.delete('/notes/:id', (req, res) => {
  res.status(notes.delete(Number(req.params.id)) ? 204 : 404).end();
});

app.listen(process.env.PORT);
