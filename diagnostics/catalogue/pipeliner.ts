/** What the pipeliner reports about the program's state. Only factories are exported here. */
export {};
