/**
 * Clients of services on the web. Each call is a request of its own; a client keeps its options, and connections that come and go:
 * each loop may have one. What a client calls streams, pagers and events is left out.
 */
import type { Members } from '../build.js';
import { each, listed, promising, pure, values, withDefault } from '../build.js';
import type { Call, Member, PackageModel, TypeModel } from '../types.js';

const does = ['network'] as const;
const client = (type: string): Call => ({ returns: type, keeps: [-1], connects: true });

/** Calls of one resource, which all ask the service. */
const resource = (names: string): Member => ({ members: promising(names, { does }) });

// ---------------------------------------------------------------------------------------------------------------- stripe

const STRIPE_RESOURCES = `account accountLinks accountSessions accounts applicationFees balance balanceTransactions charges
  confirmationTokens countrySpecs coupons creditNotes customerSessions customers disputes ephemeralKeys events exchangeRates
  fileLinks files invoiceItems invoicePayments invoices mandates paymentIntents paymentLinks paymentMethodConfigurations
  paymentMethodDomains paymentMethods payouts plans prices products promotionCodes quotes refunds reviews setupAttempts setupIntents
  shippingRates sources subscriptionItems subscriptionSchedules subscriptions taxCodes taxIds taxRates tokens topups transfers
  webhookEndpoints`;
/** Of a client or of its resources; lists are awaited, not walked through. */
const STRIPE_CALLS = `create retrieve update del list search cancel capture confirm finalizeInvoice pay sendInvoice voidInvoice
  markUncollectible attach detach approve expire close archive createPreview retrieveUpcoming listLineItems createSource
  retrieveSource updateSource deleteSource listSources retrievePaymentMethod listPaymentMethods createRefund listRefunds
  createReversal listReversals incrementAuthorization verifyMicrodeposits applyCustomerBalance resume accept pdf`;

const STRIPE: TypeModel = {
  identity: true,
  members: {
    ...each(STRIPE_RESOURCES, resource(STRIPE_CALLS)),
    checkout: { members: each('sessions', resource('create retrieve update list expire listLineItems')) },
    billingPortal: { members: { sessions: resource('create') } },
    webhooks: { members: { ...pure('constructEvent generateTestHeaderString'), ...promising('constructEventAsync') } },
  },
};

export const stripe = {
  name: 'stripe',
  module: withDefault({
    call: client('stripe.Client'),
    construct: client('stripe.Client'),
    members: { Stripe: { call: client('stripe.Client'), construct: client('stripe.Client') } },
  }),
  types: { Client: STRIPE },
} satisfies PackageModel;

// ---------------------------------------------------------------------------------------------------------------- openai

const OPENAI: TypeModel = {
  identity: true,
  members: {
    chat: { members: { completions: resource('create parse') } },
    responses: resource('create parse retrieve delete cancel'),
    embeddings: resource('create'),
    moderations: resource('create'),
    images: resource('generate edit createVariation'),
    models: resource('retrieve delete'),
    audio: { members: each('transcriptions translations', resource('create')) },
  },
};

export const openai = {
  name: 'openai',
  module: {
    construct: client('openai.Client'),
    members: each('default OpenAI AzureOpenAI', { construct: client('openai.Client') }),
  },
  types: { Client: OPENAI },
} satisfies PackageModel;

// ------------------------------------------------------------------------------------------------------------------- aws

/** A client sends commands; to send one adds steps to its own list of them. */
const AWS_CLIENT: TypeModel = {
  identity: true,
  members: {
    send: { call: { promise: true, returns: 'fresh', mutates: [0], does } },
    destroy: { call: { returns: 'fresh', mutates: ['this'] } },
    ...values('config middlewareStack'),
  },
};
const AWS_COMMAND: TypeModel = { members: values('input middlewareStack') };

function aws(name: string, className: string, commands: string): PackageModel {
  const full = `@aws-sdk/${name}`;
  const command: Member = { construct: { returns: `${full}.Command`, keeps: [0] } };
  const made = listed(commands).map((word) => `${word}Command`);
  const members: Members = { [className]: { construct: client(`${full}.Client`) }, ...each(made.join(' '), command) };
  return { name: full, module: { members }, types: { Client: AWS_CLIENT, Command: AWS_COMMAND } };
}

export const awsS3 = aws(
  'client-s3',
  'S3Client',
  `AbortMultipartUpload CompleteMultipartUpload CopyObject CreateBucket CreateMultipartUpload DeleteBucket DeleteObject
  DeleteObjects GetObject GetObjectAttributes GetObjectTagging HeadBucket HeadObject ListBuckets ListMultipartUploads
  ListObjectVersions ListObjects ListObjectsV2 ListParts PutObject PutObjectAcl PutObjectTagging UploadPart`,
);

export const awsDynamo = aws(
  'client-dynamodb',
  'DynamoDBClient',
  `BatchGetItem BatchWriteItem CreateTable DeleteItem DeleteTable DescribeTable GetItem ListTables PutItem Query Scan
  TransactGetItems TransactWriteItems UpdateItem`,
);

export const awsSes = aws('client-ses', 'SESClient', 'SendEmail SendRawEmail SendTemplatedEmail');

export const awsSns = aws('client-sns', 'SNSClient', 'Publish PublishBatch Subscribe Unsubscribe');

export const awsSqs = aws(
  'client-sqs',
  'SQSClient',
  `ChangeMessageVisibility DeleteMessage DeleteMessageBatch GetQueueAttributes GetQueueUrl ReceiveMessage SendMessage
  SendMessageBatch`,
);

/** It signs with what the client knows, and asks nobody. */
export const awsPresigner = {
  name: '@aws-sdk/s3-request-presigner',
  module: { members: { getSignedUrl: { call: { promise: true, returns: 'fresh', mutates: [1], does } } } },
} satisfies PackageModel;
