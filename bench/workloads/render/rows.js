module.exports = function rowsOf(list) {
  return Array.from({ length: 200 }, (_, number) => ({
    number,
    name: `row ${number} of ${list}`,
    note: `<b>${number * list}</b> & more`,
  }));
};
