import { Type } from 'typebox';
import { CreateImportBody, DetectedFile, ImportBody, ImportProblem } from '../../history/imports.ts';
import { route } from '../../route.ts';
import { Fields, PageQuery, page } from '../../schema.ts';
import { FILE_TYPES, MAX_FILE_LINES, MAX_PROBLEMS } from '../../values/history.ts';

const IdParams = Fields({ id: Type.String({ description: "The import's id." }) });
const ERRORS_OF_ONE = ['not_found'] as const;

export const routes = {
  detectImport: route({
    method: 'POST',
    path: '/v1/imports/detect',
    operationId: 'detectImport',
    tag: 'History',
    summary: 'Recognise a file',
    description:
      'Takes the first bytes of a file, at most 64 KiB, and returns its form. Of a CSV file it guesses how the columns are read. `needs` names what the sample leaves open. Nothing is saved.',
    scopes: ['admin', 'consume'],
    weighs: false,
    content: FILE_TYPES,
    responses: { 200: { description: 'The form of the file.', schema: DetectedFile } },
    errors: [],
  }),
  createImport: route({
    method: 'POST',
    path: '/v1/imports',
    operationId: 'createImport',
    tag: 'History',
    summary: 'Create an import',
    description: `Prepares to read a file of what a payment rail says was paid; then send the file to its \`content\`. \`csv\` needs \`mapping\` or \`mapping_from\`. A file may have ${MAX_FILE_LINES} lines.`,
    scopes: ['admin', 'consume'],
    weighs: false,
    body: CreateImportBody,
    responses: { 201: { description: 'The import.', schema: ImportBody } },
    errors: ['not_found', 'line_limit'],
  }),
  listImports: route({
    method: 'GET',
    path: '/v1/imports',
    operationId: 'listImports',
    tag: 'History',
    summary: 'List imports',
    description: 'Newest first.',
    scopes: ['read'],
    query: Fields(PageQuery),
    responses: {
      200: { description: 'A page of imports.', schema: page(ImportBody, { $id: 'ImportPage' }) },
    },
    errors: [],
  }),
  getImport: route({
    method: 'GET',
    path: '/v1/imports/:id',
    operationId: 'getImport',
    tag: 'History',
    summary: 'Get an import',
    description: 'With how far its file was read.',
    params: IdParams,
    scopes: ['read'],
    responses: { 200: { description: 'The import.', schema: ImportBody } },
    errors: ERRORS_OF_ONE,
  }),
  putImportContent: route({
    method: 'PUT',
    path: '/v1/imports/:id/content',
    operationId: 'putImportContent',
    tag: 'History',
    summary: 'Send the file',
    description:
      'Reads the file as it arrives. Lines that are known already are not taken again, so after an interruption send the whole file again. A bad line never stops the others. A connection that is silent for 30 s is given up, and the import is `INTERRUPTED`.',
    params: IdParams,
    scopes: ['admin', 'consume'],
    weighs: false,
    content: FILE_TYPES,
    responses: { 200: { description: 'The import after the file was read.', schema: ImportBody } },
    errors: ['not_found', 'import_in_progress', 'line_limit'],
  }),
  listImportProblems: route({
    method: 'GET',
    path: '/v1/imports/:id/problems',
    operationId: 'listImportProblems',
    tag: 'History',
    summary: 'List the bad lines of a file',
    description: `In the order of the file, at most ${MAX_PROBLEMS}. With \`accept: text/csv\` of a CSV file: the bad lines under their header, to be mended and sent again.`,
    params: IdParams,
    scopes: ['read'],
    query: Fields(PageQuery),
    responses: {
      200: {
        description: 'A page of bad lines.',
        schema: page(ImportProblem, { $id: 'ImportProblemPage' }),
        or_as: ['text/csv'],
      },
    },
    errors: ERRORS_OF_ONE,
  }),
  deleteImport: route({
    method: 'DELETE',
    path: '/v1/imports/:id',
    operationId: 'deleteImport',
    tag: 'History',
    summary: 'Delete an import',
    description: 'Deletes it with all lines that it took. The ledger still tells that it was there.',
    params: IdParams,
    scopes: ['admin'],
    responses: { 204: { description: 'Deleted.', schema: null } },
    errors: ERRORS_OF_ONE,
  }),
};
