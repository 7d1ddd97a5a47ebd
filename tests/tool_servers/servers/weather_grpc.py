"""A grpcio server with reflection."""

import os
import sys
from concurrent import futures

import grpc
from grpc_reflection.v1alpha import reflection

sys.path.insert(0, os.path.dirname(__file__))
protos, services = grpc.protos_and_services("weather.proto")


class Forecaster(services.ForecasterServicer):
    def GetForecast(self, request, context):
        if not request.place.city:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "a forecast needs a city")
        days = [protos.Day(stamp=2**53 + at, degrees=20.5 + at) for at in range(request.days)]
        return protos.Forecast(city=request.place.city, days=days, unit=request.unit)


server = grpc.server(futures.ThreadPoolExecutor(2))
services.add_ForecasterServicer_to_server(Forecaster(), server)
names = (protos.DESCRIPTOR.services_by_name["Forecaster"].full_name, reflection.SERVICE_NAME)
reflection.enable_server_reflection(names, server)
server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
server.start()
server.wait_for_termination()
