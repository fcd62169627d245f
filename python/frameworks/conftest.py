from tests.conftest import service_url as service_url
