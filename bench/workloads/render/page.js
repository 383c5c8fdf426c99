const fs = require('fs');
const path = require('path');
const ejs = require('ejs');
const rowsOf = require('./rows');

const template = ejs.compile(fs.readFileSync(path.join(__dirname, 'views', 'list.ejs'), 'utf8'));

module.exports = (list) => template({ list, rows: rowsOf(list) });
