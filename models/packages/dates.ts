import { calls, chained, configures, constants, each, listed, pure, values, withDefault } from '../build.js';
import type { Call, PackageModel } from '../types.js';

/** Moments change in place; `add` and its like give their receiver back. With an argument the getters are setters. */
export const moment = {
  name: 'moment',
  module: {
    call: { returns: 'moment.Moment', does: ['clock'] },
    members: {
      ...calls('utc parseZone', { returns: 'moment.Moment', does: ['clock'] }),
      ...pure('unix min max invalid', 'moment.Moment'),
      ...pure('duration', 'moment.Duration'),
      ...pure(
        'isMoment isDate isDuration normalizeUnits months monthsShort weekdays weekdaysShort weekdaysMin locales',
      ),
      ...calls('now', { does: ['clock'] }),
      ...configures('locale lang defineLocale updateLocale relativeTimeThreshold relativeTimeRounding'),
      ...constants('ISO_8601 RFC_2822 HTML5_FMT version'),
      ...values('fn defaultFormat defaultFormatUtc'),
    },
  },
  types: {
    Moment: {
      members: {
        ...chained(
          `add subtract startOf endOf set utc local utcOffset zone locale year month date day days dates hour hours
          minute minutes second seconds millisecond milliseconds week weeks isoWeek isoWeeks weekday isoWeekday
          weekYear isoWeekYear quarter quarters dayOfYear years months`,
          { keeps: [] },
        ),
        ...pure('clone', 'moment.Moment'),
        ...pure(`diff format from to get isAfter isBefore isBetween isSame isSameOrAfter isSameOrBefore isValid
          invalidAt toArray toObject toDate toISOString inspect toJSON toString unix valueOf isLeapYear daysInMonth
          weeksInYear isoWeeksInYear hasAlignedHourOffset isDST isLocal isUtcOffset isUtc isUTC zoneAbbr zoneName
          creationData parsingFlags`),
        ...calls('localeData', { shared: true }),
        ...calls('fromNow toNow calendar', { does: ['clock'] }),
      },
    },
    Duration: { members: chained('add subtract locale', { keeps: [] }), others: { returns: 'fresh' } },
  },
} satisfies PackageModel;

const ZONED: Call = { returns: 'moment-timezone.Moment', does: ['clock'] };

export const momentTimezone = {
  name: 'moment-timezone',
  settingsOf: 'moment',
  module: {
    call: ZONED,
    members: {
      ...moment.module.members,
      ...calls('utc parseZone', ZONED),
      ...pure('unix min max invalid', 'moment-timezone.Moment'),
      tz: {
        call: ZONED,
        members: {
          ...pure('guess names countries zonesForCountry'),
          ...configures('setDefault add link load'),
          zone: { call: { returns: 'fresh', shared: true } },
        },
      },
    },
  },
  types: {
    Moment: {
      extends: 'moment.Moment',
      members: { ...chained('tz', { keeps: [] }), ...pure('clone', 'moment-timezone.Moment') },
    },
  },
} satisfies PackageModel;

export const dayjs = {
  name: 'dayjs',
  module: withDefault({
    call: { returns: 'dayjs.Dayjs', does: ['clock'] },
    members: {
      ...pure('isDayjs'),
      ...pure('unix', 'dayjs.Dayjs'),
      ...configures('extend locale'),
      // Of plugins that come with it.
      ...calls('utc', { returns: 'dayjs.Dayjs', does: ['clock'] }),
      tz: {
        call: { returns: 'dayjs.Dayjs', does: ['clock'] },
        members: { ...pure('guess'), ...configures('setDefault') },
      },
      ...pure('duration', 'dayjs.Duration'),
      ...pure('isDuration'),
    },
  }),
  types: {
    Dayjs: {
      members: {
        ...pure(
          `add subtract set startOf endOf clone locale year month date day hour minute second millisecond utc local tz
          week isoWeek isoWeekday isoWeekYear weekday weekYear quarter dayOfYear`,
          'dayjs.Dayjs',
        ),
        ...pure(`get format diff unix valueOf toDate toJSON toISOString toString isValid isSame isAfter isBefore
          daysInMonth utcOffset isUTC isBetween isSameOrAfter isSameOrBefore from to isLeapYear isoWeeksInYear toArray
          toObject offsetName`),
        ...calls('fromNow toNow calendar isToday isTomorrow isYesterday', { does: ['clock'] }),
      },
    },
    Duration: {
      members: {
        ...pure('add subtract clone locale', 'dayjs.Duration'),
        ...pure(`milliseconds seconds minutes hours days weeks months years asMilliseconds asSeconds asMinutes asHours
          asDays asWeeks asMonths asYears as get format humanize toISOString toJSON valueOf`),
      },
    },
  },
} satisfies PackageModel;

const PLUGINS = `advancedFormat arraySupport badMutable bigIntSupport buddhistEra calendar customParseFormat dayOfYear
  devHelper duration isBetween isLeapYear isMoment isoWeek isoWeeksInYear isSameOrAfter isSameOrBefore isToday isTomorrow
  isYesterday localeData localizedFormat minMax negativeYear objectSupport pluralGetSet preParsePostFormat quarterOfYear
  relativeTime timezone toArray toObject updateLocale utc weekday weekOfYear weekYear`;

/** To be given to `extend`: a plugin does nothing by itself. */
export const dayjsPlugins: readonly PackageModel[] = listed(PLUGINS).flatMap((plugin) =>
  ['', '.js'].map((ending) => ({
    name: `dayjs/plugin/${plugin}${ending}`,
    module: { is: 'fresh', members: { default: { is: 'fresh' } } },
  })),
);

const LUXON_CLOCK: Call = { returns: 'luxon.DateTime', does: ['clock'] };

/** Its values never change; what is not said of the day or the zone is taken from the clock and the settings. */
export const luxon = {
  name: 'luxon',
  module: {
    members: {
      DateTime: {
        members: {
          ...each('now local utc fromISO fromFormat fromObject fromRFC2822 fromHTTP fromSQL fromString', {
            call: LUXON_CLOCK,
          }),
          ...pure('fromMillis fromSeconds fromJSDate invalid', 'luxon.DateTime'),
          ...pure('isDateTime'),
          ...constants(`DATE_SHORT DATE_MED DATE_MED_WITH_WEEKDAY DATE_FULL DATE_HUGE TIME_SIMPLE TIME_WITH_SECONDS
            TIME_24_SIMPLE TIME_24_WITH_SECONDS DATETIME_SHORT DATETIME_SHORT_WITH_SECONDS DATETIME_MED
            DATETIME_MED_WITH_SECONDS DATETIME_FULL DATETIME_FULL_WITH_SECONDS DATETIME_HUGE`),
        },
      },
      Duration: {
        members: {
          ...pure('fromObject fromMillis fromISO fromISOTime invalid', 'luxon.Duration'),
          ...pure('isDuration'),
        },
      },
      Interval: {
        members: {
          ...pure('fromDateTimes after before invalid', 'luxon.Interval'),
          ...calls('fromISO', { returns: 'luxon.Interval', does: ['clock'] }),
          ...pure('isInterval'),
        },
      },
      Info: {
        members: pure(`months monthsFormat weekdays weekdaysFormat meridiems eras features hasDST isValidIANAZone
          getStartOfWeek`),
      },
      ...values('Settings'),
      ...constants('VERSION'),
    },
  },
  types: {
    DateTime: {
      members: {
        ...pure('plus minus set setZone setLocale toUTC toLocal startOf endOf reconfigure', 'luxon.DateTime'),
        ...pure(`toISO toISODate toISOTime toISOWeekDate toFormat toLocaleString toLocaleParts toMillis toSeconds
          toUnixInteger toRFC2822 toHTTP toSQL toSQLDate toSQLTime toString valueOf toJSON toBSON toObject toJSDate get
          hasSame equals`),
        ...pure('diff', 'luxon.Duration'),
        ...calls('diffNow', { returns: 'luxon.Duration', does: ['clock'] }),
        ...pure('until', 'luxon.Interval'),
        ...calls('toRelative toRelativeCalendar', { does: ['clock'] }),
        ...constants(`year month day hour minute second millisecond quarter weekday weekNumber weekYear ordinal
          daysInMonth daysInYear weeksInWeekYear isValid isInLeapYear isInDST isOffsetFixed invalidReason
          invalidExplanation zoneName offset offsetNameShort offsetNameLong monthShort monthLong weekdayShort weekdayLong
          locale numberingSystem outputCalendar ts`),
      },
    },
    Duration: {
      members: {
        ...pure('plus minus set reconfigure normalize rescale shiftTo shiftToAll negate', 'luxon.Duration'),
        ...pure('get as toFormat toHuman toISO toISOTime toJSON toString toMillis valueOf toObject equals'),
        ...constants('years quarters months weeks days hours minutes seconds milliseconds isValid locale'),
      },
    },
    Interval: {
      members: {
        ...pure(`length count isEmpty isAfter isBefore contains hasSame equals overlaps abutsStart abutsEnd engulfs
          toString toISO toISODate toISOTime toFormat toLocaleString`),
        ...pure('toDuration', 'luxon.Duration'),
        ...constants('isValid'),
        start: { is: 'luxon.DateTime' },
        end: { is: 'luxon.DateTime' },
      },
    },
  },
} satisfies PackageModel;

export const dateFns = {
  name: 'date-fns',
  memberPaths: true,
  module: {
    members: {
      ...configures('setDefaultOptions'),
      ...calls(
        `constructNow endOfToday endOfTomorrow endOfYesterday formatDistanceToNow formatDistanceToNowStrict isFuture
        isPast isThisHour isThisISOWeek isThisMinute isThisMonth isThisQuarter isThisSecond isThisWeek isThisYear isToday
        isTomorrow isYesterday startOfToday startOfTomorrow startOfYesterday`,
        { does: ['clock'] },
      ),
    },
    others: { returns: 'fresh' },
  },
} satisfies PackageModel;
