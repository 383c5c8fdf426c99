/** Strategies of passport: they hold a function of the app that is asked for each request who it comes from. */
import type { Members } from '../build.js';
import { asked, askedItself, listed, pure } from '../build.js';
import type { PackageModel } from '../types.js';

/** What it is told in which place (the request, what that says, `done`) depends on the strategy and its options. */
const TOLD = 'fresh | passport.Told';
const ASKED = [
  ...[0, 1].map((argument) => askedItself([TOLD, TOLD, TOLD, TOLD, TOLD, TOLD], argument)),
  ...asked('jwtFromRequest', ['express.Request']),
  ...asked('secretOrKeyProvider', ['express.Request', 'fresh', 'express.Done']),
];

const STRATEGY: Members = {
  Strategy: { construct: { ruptures: ASKED, returns: 'passport.Strategy', keeps: [-1], connects: true } },
};

const NAMES = `passport-local passport-http passport-http-bearer passport-google-oauth20 passport-github2 passport-github passport-facebook
  passport-oauth2 passport-twitter passport-apple passport-discord passport-linkedin-oauth2 passport-microsoft passport-custom
  passport-anonymous passport-headerapikey`;

export const passportStrategies: readonly PackageModel[] = [
  ...listed(NAMES).map((name): PackageModel => ({ name, module: { ...STRATEGY.Strategy, members: STRATEGY } })),
  {
    name: 'passport-jwt',
    module: {
      members: {
        ...STRATEGY,
        ExtractJwt: {
          members: pure(
            `fromHeader fromBodyField fromUrlQueryParameter fromAuthHeaderWithScheme fromExtractors fromAuthHeaderAsBearerToken
            versionOneCompatibility`,
          ),
        },
      },
    },
  },
];
