import { calls, chained, configures, constants, pure, values, withDefault } from '../build.js';
import type { PackageModel } from '../types.js';

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
          creationData parsingFlags localeData`),
        ...calls('fromNow toNow calendar', { does: ['clock'] }),
      },
    },
    Duration: { members: chained('add subtract locale', { keeps: [] }), others: { returns: 'fresh' } },
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
    },
  }),
  types: {
    Dayjs: {
      members: {
        ...pure(
          `add subtract set startOf endOf clone locale year month date day hour minute second millisecond`,
          'dayjs.Dayjs',
        ),
        ...pure(`get format diff unix valueOf toDate toJSON toISOString toString isValid isSame isAfter isBefore
          daysInMonth utcOffset`),
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
