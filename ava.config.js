/** Those that take longest begin first, so that at the end nobody waits for one that has just begun. */
const longest = [
  ...['styles', 'run-fixtures', 'run-drop-in', 'run-apps', 'express-api', 'differential', 'everyday', 'run-link'],
  ...['run-forms', 'run-shutdown', 'compile-cache', 'fuzz', 'cli', 'fixtures'],
].map((name) => `/${name}.test.js`);

function rank(file) {
  const at = longest.findIndex((end) => file.endsWith(end));
  return at === -1 ? longest.length : at;
}

export default {
  files: ['dist/test/**/*.test.js'],
  sortTestFiles: (left, right) => rank(left) - rank(right) || left.localeCompare(right),
  timeout: '300s',
  workerThreads: false,
  // Node 20 reads all certificates of the file that this names whenever it starts, which takes longer than the rest of its start.
  environmentVariables: { NODE_EXTRA_CA_CERTS: '' },
};
