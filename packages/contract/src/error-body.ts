import { type Static, Type } from 'typebox';
import { ERRORS, type ErrorCode } from './errors.ts';

/** Every error's body. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.Unsafe<ErrorCode>({
          $id: 'ErrorCode',
          type: 'string',
          enum: Object.keys(ERRORS),
          description: 'The error code, which clients branch on.',
          examples: ['invalid_request'],
        }),
        message: Type.String({
          description: 'For people. On `invalid_request` it starts with the name of the invalid field.',
          examples: ['action.amount_minor: must be an integer from 1 to 9007199254740991'],
        }),
        request_id: Type.String({
          description: 'The same as the `x-request-id` header.',
          examples: ['req_01KAJ5F0V8Z3M2Q9X7T4R6N1BD'],
        }),
      },
      { additionalProperties: false },
    ),
  },
  { $id: 'Error', additionalProperties: false, description: 'The body of every refusal and failure.' },
);
export type ErrorBody = Static<typeof ErrorBody>;
