/** Prisma: a client is a pool that opens when it is first used; its tables are properties of any name. */
import { calls, each, post, promising, pure, start, values } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['network', 'files'] as const;
const client: Call = { returns: '@prisma/client.Client', keeps: [-1], connects: true };

export const prisma = {
  name: '@prisma/client',
  module: {
    members: {
      PrismaClient: { construct: client },
      Prisma: {
        members: {
          ...pure('sql join raw', '@prisma/client.Sql'),
          validator: { call: { returns: 'fresh' } },
          ...each(
            `PrismaClientKnownRequestError PrismaClientUnknownRequestError PrismaClientValidationError
            PrismaClientInitializationError PrismaClientRustPanicError`,
            { construct: { returns: 'Error', keeps: [-1] } },
          ),
          ...each('Decimal', { construct: { returns: 'fresh' } }),
          ...values('empty JsonNull DbNull AnyNull ModelName SortOrder QueryMode'),
        },
      },
    },
  },
  types: {
    Client: {
      identity: true,
      members: {
        ...promising('$connect $disconnect', { does, connects: true }),
        ...promising('$queryRaw $queryRawUnsafe $executeRaw $executeRawUnsafe $runCommandRaw', {
          does,
          returns: 'data',
        }),
        $transaction: {
          call: { ruptures: [post(0, ['@prisma/client.Client'])], promise: true, returns: 'unknown', does },
        },
        $on: {
          call: { ruptures: [start(1, ['fresh'], { label: 0 })], returns: 'this', mutates: ['this'], keeps: [1] },
        },
        ...calls('$use', { mutates: ['this'], keeps: [-1] }),
        $extends: { call: { returns: 'unknown', keeps: [-1] } },
      },
      othersAre: '@prisma/client.Table',
    },
    Table: {
      members: promising(
        `findUnique findUniqueOrThrow findFirst findFirstOrThrow findMany findRaw aggregateRaw create createMany createManyAndReturn
        update updateMany updateManyAndReturn upsert delete deleteMany count aggregate groupBy`,
        { does, returns: 'data' },
      ),
    },
    Sql: { members: values('sql text values') },
  },
} satisfies PackageModel;
