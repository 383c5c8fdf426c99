import { callbackLast, calls, constants, mutating, promising } from '../build.js';
import type { PackageModel } from '../types.js';

const does = ['network'] as const;
const RESOLVE = `resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs
  resolvePtr resolveSoa resolveSrv resolveTlsa resolveTxt reverse`;
const CODES = `NODATA FORMERR SERVFAIL NOTFOUND NOTIMP REFUSED BADQUERY BADNAME BADFAMILY BADRESP CONNREFUSED
  TIMEOUT EOF FILE NOMEM DESTRUCTION BADSTR BADFLAGS NONAME BADHINTS NOTINITIALIZED LOADIPHLPAPI ADDRGETNETWORKPARAMS
  CANCELLED`;

/** Also the members of `dns.promises`. */
const dnsPromiseMembers = {
  ...promising(`lookup lookupService ${RESOLVE}`, { does }),
  ...calls('setServers getServers setDefaultResultOrder getDefaultResultOrder', { stateful: true }),
  ...constants(CODES),
  Resolver: { construct: { returns: 'dns/promises.Resolver' } },
};

export const dns = {
  name: 'dns',
  module: {
    members: {
      ...callbackLast(`lookup lookupService ${RESOLVE}`, { does }),
      ...calls('setServers getServers setDefaultResultOrder getDefaultResultOrder', { stateful: true }),
      ...constants(CODES),
      ...constants('ADDRCONFIG ALL V4MAPPED'),
      Resolver: { construct: { returns: 'dns.Resolver' } },
      promises: { members: dnsPromiseMembers },
    },
  },
  types: {
    Resolver: {
      members: {
        ...callbackLast(RESOLVE, { does }),
        ...mutating('setServers setLocalAddress cancel'),
        ...calls('getServers', {}),
      },
    },
  },
} satisfies PackageModel;

export const dnsPromises = {
  name: 'dns/promises',
  module: { members: dnsPromiseMembers },
  types: {
    Resolver: {
      members: {
        ...promising(RESOLVE, { does }),
        ...mutating('setServers setLocalAddress cancel'),
        ...calls('getServers', {}),
      },
    },
  },
} satisfies PackageModel;
