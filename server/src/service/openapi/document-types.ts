/** A JSON Schema as the document carries it; `$ref` names a schema of `components`. */
export type JsonSchema = { [keyword: string]: unknown };

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  /** For a parameter with several values: separated by commas. */
  style?: 'form';
  explode?: false;
  schema: JsonSchema;
}

export interface Response {
  description: string;
  headers?: Record<string, { description?: string; schema?: JsonSchema; $ref?: string }>;
  content?: Record<string, { schema: JsonSchema }>;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  /** One entry for each scope that is enough; empty on public routes. */
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, Response | ResponseRef>;
}

/** Names a response of `components`. */
export interface ResponseRef {
  $ref: string;
}

/** The parts of an OpenAPI 3.1 document that this one has. */
export interface OpenApi {
  openapi: '3.1.0';
  info: {
    title: string;
    version: string;
    summary: string;
    description: string;
    contact: { name: string };
    license: { name: string; identifier: string };
  };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  /** Webhook deliveries, by type of event. */
  webhooks: Record<string, { post: Omit<Operation, 'parameters'> }>;
  components: {
    securitySchemes: Record<string, JsonSchema>;
    headers: Record<string, { description: string; schema: JsonSchema }>;
    /** The error responses, each once. */
    responses: Record<string, Response>;
    schemas: Record<string, JsonSchema>;
  };
}
