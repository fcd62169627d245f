import { Type } from 'typebox';
import { route } from '../../route.ts';
import { Fields } from '../../schema.ts';

const SampleBody = Fields(
  { workspace_id: Type.String({ examples: ['ws_01M7YJTT2MPED49YAGY4HRQNSN'] }) },
  { $id: 'Sample' },
);

export const routes = {
  createSample: route({
    method: 'POST',
    path: '/v1/workspace/sample',
    operationId: 'createSample',
    tag: 'Workspace',
    summary: 'Create a workspace of sample data',
    description:
      'Makes a second workspace with four weeks of invented agents, decisions, reviews and outcomes, and the caller its administrator. Purser itself decides them, so its history verifies. It answers when the sample is complete, which takes some seconds. A person has one sample: if there is one already, it is answered with 200. Only people can do this, not keys. On a database that is distributed with Citus no new sample is made.',
    scopes: ['admin'],
    weighs: false,
    responses: {
      200: { description: 'The sample that was there already.', schema: SampleBody },
      201: { description: 'The new sample.', schema: SampleBody },
    },
    errors: ['no_samples_on_citus', 'unavailable'],
  }),
  removeSample: route({
    method: 'DELETE',
    path: '/v1/workspace/sample',
    operationId: 'removeSample',
    tag: 'Workspace',
    summary: 'Remove the workspace of sample data',
    description:
      'Removes the current workspace with everything in it, if its `sample` is true; any other answers 409. Sessions in it continue in another workspace of their person.',
    scopes: ['admin'],
    weighs: false,
    responses: { 204: { description: 'It is gone.', schema: null } },
    errors: ['not_a_sample'],
  }),
};
